"""LangChain: OpenAIEmbeddings with texts; its token ids are of OpenAI's tokenizer, which the model does not have."""

from scene import API_KEY, BASE_URL, MODEL
from langchain_openai import OpenAIEmbeddings

model = OpenAIEmbeddings(model=MODEL, base_url=BASE_URL, api_key=API_KEY, max_retries=0, check_embedding_ctx_length=False)
documents = model.embed_documents(["Oslo", "Rome", "Oslo"])
assert [len(vector) for vector in documents] == [64, 64, 64], documents
assert documents[0] == documents[2] != documents[1]
assert model.embed_query("Oslo") == documents[0]

short = OpenAIEmbeddings(
    model=MODEL, base_url=BASE_URL, api_key=API_KEY, max_retries=0, check_embedding_ctx_length=False, dimensions=8
)
assert len(short.embed_query("Oslo")) == 8
