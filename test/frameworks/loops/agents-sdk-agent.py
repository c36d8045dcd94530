"""The Agents SDK over Responses, its default: it runs the tools by itself, and its history goes back as it came."""

import asyncio

from scene_agents import (
    API_KEY,
    BASE_URL,
    DONE,
    GREETED,
    GREETING,
    LIMITED_KEY,
    MODEL,
    POOR_KEY,
    Workplace,
    broken_greeting,
    edit_file,
    fails,
    run_command,
    write_file,
)
from agents import Agent, ModelSettings, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)
TOOLS = [
    function_tool(write_file, name_override="Write"),
    function_tool(edit_file, name_override="Edit"),
    function_tool(run_command, name_override="Bash"),
]


async def run(key: str, given, streamed: bool):
    client = AsyncOpenAI(base_url=BASE_URL, api_key=key, max_retries=0)
    agent = Agent(
        name="coder",
        instructions="Be brief.",
        model=OpenAIResponsesModel(model=MODEL, openai_client=client),
        model_settings=ModelSettings(store=False),
        tools=TOOLS,
    )
    if not streamed:
        return await Runner.run(agent, given)
    result = Runner.run_streamed(agent, given)
    async for _ in result.stream_events():
        pass
    return result


def ended(key: str, given, streamed: bool = True):
    return asyncio.run(run(key, given, streamed))


for streamed in (False, True):
    place = Workplace()
    first = ended(API_KEY, place.task, streamed)
    assert first.final_output == DONE, first.final_output
    place.check()
    second = ended(API_KEY, [*first.to_input_list(), {"role": "user", "content": place.again}], streamed)
    assert second.final_output == DONE, second.final_output

try:
    ended(API_KEY, broken_greeting())
except Exception:
    pass
else:
    raise AssertionError("the stream is to break")
fails(402, lambda: ended(POOR_KEY, GREETING))
assert ended(LIMITED_KEY, GREETING).final_output == GREETED
fails(429, lambda: ended(LIMITED_KEY, GREETING))
