"""LlamaIndex: an agent that calls functions, in a stream, and a structured prediction that is repeated."""

import asyncio

from scene import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Report, check_cities, check_report
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, LLMMetadata
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI
from pydantic import ValidationError


class Weir(OpenAI):
    """The class has a fixed list of models, which does not contain a gateway's models."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100_000, is_chat_model=True, is_function_calling_model=True, model_name=self.model)


llm = Weir(model=MODEL, api_base=BASE_URL, api_key=API_KEY, max_retries=0)
asked: list[str] = []


def get_weather(city: str) -> str:
    """The weather of a city."""
    asked.append(city)
    return WEATHER[city]


tool = FunctionTool.from_defaults(get_weather)
calls = llm.get_tool_calls_from_response(llm.chat_with_tools([tool], user_msg=QUESTION, allow_parallel_tool_calls=True))
check_cities([call.tool_kwargs["city"] for call in calls])


async def run() -> str:
    agent = FunctionAgent(tools=[tool], llm=llm, name="forecaster", system_prompt="You forecast.")
    return str(await agent.run(QUESTION))


assert asyncio.run(run()) == "Oslo 7, Rome 19"
check_cities(asked)

try:
    llm.structured_predict(Report, PromptTemplate(QUESTION))
    raise AssertionError("the first report is to be wrong")
except (ValidationError, ValueError) as error:
    problem = str(error).replace("{", "(").replace("}", ")")
check_report(llm.structured_predict(Report, PromptTemplate(f"{QUESTION} Not so: {problem}")))
again = llm.as_structured_llm(Report).chat([ChatMessage(role="user", content=f"{QUESTION} Not so: {problem}")])
check_report(again.raw)
