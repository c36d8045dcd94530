"""The official package's Responses for Python without a framework: the task whole and streamed, counts and failures."""

import json

from scene_agents import (
    API_KEY,
    BASE_URL,
    DONE,
    GREETED,
    GREETING,
    LIMITED_KEY,
    MODEL,
    POOR_KEY,
    THOUGHT,
    TOOLS,
    Workplace,
    broken_greeting,
    fails,
    run_tool,
    schema_of,
)
from openai import OpenAI

DECLARED = [
    {"type": "function", "name": name, "description": name, "parameters": schema_of(name), "strict": True} for name in TOOLS
]
SHARED = {"model": MODEL, "tools": DECLARED, "store": False, "include": ["reasoning.encrypted_content"]}


def client_of(key: str) -> OpenAI:
    return OpenAI(base_url=BASE_URL, api_key=key, max_retries=0)


def ask(client: OpenAI, given, streamed: bool):
    if not streamed:
        return client.responses.create(input=given, **SHARED)
    with client.responses.stream(input=given, **SHARED) as stream:
        return stream.get_final_response()


def converse(client: OpenAI, given: list, streamed: bool) -> str:
    """Runs the tools until the model has said what it did."""
    thoughts: list[str] = []
    while True:
        answer = ask(client, given, streamed)
        assert answer.status == "completed", answer
        # What the package adds to an item when it parses it is no part of the API.
        given += [item.model_dump(exclude_unset=True, exclude={"parsed_arguments"}) for item in answer.output]
        thoughts += ["".join(part.text for part in item.summary) for item in answer.output if item.type == "reasoning"]
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            assert thoughts == [THOUGHT], thoughts
            return answer.output_text
        for call in calls:
            output = run_tool(call.name, json.loads(call.arguments))
            given.append({"type": "function_call_output", "call_id": call.call_id, "output": output})


client = client_of(API_KEY)
for streamed in (False, True):
    place = Workplace()
    given: list = [{"role": "user", "content": place.task}]
    assert converse(client, given, streamed) == DONE
    place.check()
    given.append({"role": "user", "content": place.again})
    assert converse(client, given, streamed) == DONE
    assert client.responses.input_tokens.count(model=MODEL, input=given, tools=DECLARED).input_tokens > 0

events = [event.type for event in client.responses.create(input=broken_greeting(), stream=True, **SHARED)]
assert events[-1] == "response.failed", events
fails(402, lambda: ask(client_of(POOR_KEY), GREETING, streamed=False))
limited = client_of(LIMITED_KEY)
assert ask(limited, GREETING, streamed=True).output_text == GREETED
fails(429, lambda: ask(limited, GREETING, streamed=True))
