"""LangChain: tools bound to a model, streamed and not; structured output by function_calling and by json_schema."""

from scene import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Report, check_cities, check_report
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import ValidationError


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return WEATHER[city]


model = ChatOpenAI(model=MODEL, base_url=BASE_URL, api_key=API_KEY, max_retries=0)


def whole(messages):
    return model.bind_tools([get_weather]).invoke(messages)


def streamed(messages):
    answer = None
    for chunk in model.bind_tools([get_weather]).stream(messages):
        answer = chunk if answer is None else answer + chunk
    return answer


for ask in (whole, streamed):
    messages = [HumanMessage(QUESTION, name="ann")]
    answer = ask(messages)
    answer.name = "forecaster"
    check_cities([call["args"]["city"] for call in answer.tool_calls])
    messages += [answer, *[get_weather.invoke(call) for call in answer.tool_calls]]
    assert all(isinstance(message, ToolMessage) for message in messages[2:])
    assert ask(messages).content == "Oslo 7, Rome 19"
    structured = model.with_structured_output(Report, method="function_calling", include_raw=True)
    first = structured.invoke(messages)
    raw, problem = first["raw"], str(first["parsing_error"])
    assert first["parsed"] is None, first
    complaints = [ToolMessage(problem, tool_call_id=call["id"], name=call["name"]) for call in raw.tool_calls]
    check_report(structured.invoke([*messages, raw, *complaints])["parsed"])
    structured = model.with_structured_output(Report, method="json_schema")
    try:
        structured.invoke(messages)
        raise AssertionError("the first report is to be wrong")
    except ValidationError as error:
        complaint = HumanMessage(str(error))
    check_report(structured.invoke([*messages, complaint]))
