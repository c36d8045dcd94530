"""The official package for Python without a framework: complete answers, then streams."""

import json

from scene import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Report, check_cities, check_report
from openai import OpenAI
from pydantic import ValidationError

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]
FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "report", "schema": {**Report.model_json_schema(), "additionalProperties": False}},
}


def answer(streamed: bool, **request):
    if not streamed:
        return client.chat.completions.create(model=MODEL, **request).choices[0].message
    with client.chat.completions.stream(model=MODEL, **request) as stream:
        return stream.get_final_completion().choices[0].message


for streamed in (False, True):
    messages = [{"role": "user", "name": "ann", "content": QUESTION}]
    message = answer(streamed, messages=messages, tools=TOOLS)
    calls = message.tool_calls
    check_cities([json.loads(call.function.arguments)["city"] for call in calls])
    messages.append(message)
    for call in calls:
        city = json.loads(call.function.arguments)["city"]
        messages.append({"role": "tool", "tool_call_id": call.id, "name": "get_weather", "content": WEATHER[city]})
    message = answer(streamed, messages=messages, tools=TOOLS, response_format=FORMAT)
    try:
        Report.model_validate_json(message.content)
        raise AssertionError("the first report is to be wrong")
    except ValidationError as error:
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": str(error)}]
    message = answer(streamed, messages=messages, tools=TOOLS, response_format=FORMAT)
    check_report(Report.model_validate_json(message.content))
