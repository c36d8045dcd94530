"""LangChain with a model that thinks. Its class for OpenAI drops thoughts; those that are signed travel in the ids of the calls."""

from scene import AGAIN, API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, check_cities
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return WEATHER[city]


model = ChatOpenAI(model=MODEL, base_url=BASE_URL, api_key=API_KEY, max_retries=0).bind_tools([get_weather])


def streamed(messages):
    answer = None
    for chunk in model.stream(messages):
        answer = chunk if answer is None else answer + chunk
    return answer


for ask in (model.invoke, streamed):
    messages = []
    for question in (QUESTION, AGAIN):
        messages.append(HumanMessage(question))
        answer = ask(messages)
        check_cities([call["args"]["city"] for call in answer.tool_calls])
        messages += [answer, *[get_weather.invoke(call) for call in answer.tool_calls]]
        answer = ask(messages)
        assert answer.content.startswith("Oslo 7, Rome 19"), answer
        messages.append(answer)
