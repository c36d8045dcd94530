"""The official package for Python with a model that thinks: its messages go back as they came, with the thought."""

import json

from scene import AGAIN, API_KEY, BASE_URL, MODEL, QUESTION, THOUGHT, WEATHER, check_cities
from openai import OpenAI

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]


def answer(streamed: bool, messages: list):
    if not streamed:
        return client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS).choices[0].message
    with client.chat.completions.stream(model=MODEL, messages=messages, tools=TOOLS) as stream:
        return stream.get_final_completion().choices[0].message


for streamed in (False, True):
    messages = []
    for question in (QUESTION, AGAIN):
        messages.append({"role": "user", "content": question})
        message = answer(streamed, messages)
        assert message.reasoning_content == THOUGHT, message
        messages.append(message)
        check_cities([json.loads(call.function.arguments)["city"] for call in message.tool_calls])
        for call in message.tool_calls:
            city = json.loads(call.function.arguments)["city"]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": WEATHER[city]})
        message = answer(streamed, messages)
        assert message.content == "Oslo 7, Rome 19", message
        messages.append(message)
