"""The official package of Messages for Python without a framework: the task whole and streamed, counts and failures."""

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
from anthropic import Anthropic, APIError

DECLARED = [{"name": name, "description": name, "input_schema": schema_of(name)} for name in TOOLS]


def client_of(key: str) -> Anthropic:
    return Anthropic(base_url=BASE_URL.removesuffix("/v1"), auth_token=key, max_retries=0)


def ask(client: Anthropic, messages: list, streamed: bool):
    request = {"model": MODEL, "max_tokens": 900, "thinking": {"type": "adaptive"}, "messages": messages, "tools": DECLARED}
    if not streamed:
        return client.messages.create(**request)
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


def converse(client: Anthropic, messages: list, streamed: bool) -> str:
    """Runs the tools until the model has said what it did."""
    thoughts: list[str] = []
    while True:
        message = ask(client, messages, streamed)
        messages.append({"role": "assistant", "content": message.content})
        thoughts += [block.thinking for block in message.content if block.type == "thinking"]
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            assert thoughts == [THOUGHT], thoughts
            return "".join(block.text for block in message.content if block.type == "text")
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": run_tool(call.name, call.input)} for call in calls]
        messages.append({"role": "user", "content": results})


client = client_of(API_KEY)
for streamed in (False, True):
    place = Workplace()
    messages: list = [{"role": "user", "content": place.task}]
    assert converse(client, messages, streamed) == DONE
    place.check()
    messages.append({"role": "user", "content": place.again})
    assert converse(client, messages, streamed) == DONE
    assert client.messages.count_tokens(model=MODEL, messages=messages[:-1], tools=DECLARED).input_tokens > 0

try:
    ask(client, [{"role": "user", "content": broken_greeting()}], streamed=True)
    raise AssertionError("the stream is to break")
except APIError:
    pass
GREET = [{"role": "user", "content": GREETING}]
fails(402, lambda: ask(client_of(POOR_KEY), GREET, streamed=False))
limited = client_of(LIMITED_KEY)
assert ask(limited, GREET, streamed=True).content[0].text == GREETED
fails(429, lambda: ask(limited, GREET, streamed=True))
