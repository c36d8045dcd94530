// The official package for Go with a model that thinks: its messages go back as they came, with the thought. See scene.py.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
)

const thought = "Both cities need a forecast."

var weather = map[string]string{"Oslo": "7", "Rome": "19"}

var client = openai.NewClient(
	option.WithBaseURL(os.Getenv("WEIR_URL")), option.WithAPIKey(os.Getenv("WEIR_KEY")), option.WithMaxRetries(0),
)

var tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
	Name: "get_weather",
	Parameters: openai.FunctionParameters{
		"type":       "object",
		"properties": map[string]any{"city": map[string]any{"type": "string"}},
		"required":   []string{"city"},
	},
})}

type messages = []openai.ChatCompletionMessageParamUnion

func requestOf(sent messages) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: os.Getenv("WEIR_MODEL"), Messages: sent, Tools: tools}
}

func whole(sent messages) (openai.ChatCompletionMessage, string) {
	completion, err := client.Chat.Completions.New(context.Background(), requestOf(sent))
	if err != nil {
		log.Fatal(err)
	}
	message := completion.Choices[0].Message
	return message, reasoningIn(message.JSON.ExtraFields)
}

func streamed(sent messages) (openai.ChatCompletionMessage, string) {
	stream := client.Chat.Completions.NewStreaming(context.Background(), requestOf(sent))
	accumulator := openai.ChatCompletionAccumulator{}
	reasoning := ""
	for stream.Next() {
		chunk := stream.Current()
		if !accumulator.AddChunk(chunk) {
			log.Fatalf("a chunk does not belong to its answer: %s", chunk.RawJSON())
		}
		for _, choice := range chunk.Choices {
			reasoning += reasoningIn(choice.Delta.JSON.ExtraFields)
		}
	}
	if stream.Err() != nil {
		log.Fatal(stream.Err())
	}
	return accumulator.Choices[0].Message, reasoning
}

// The package has no field for it.
func reasoningIn(fields map[string]respjson.Field) string {
	var reasoning string
	if field, ok := fields["reasoning_content"]; ok {
		check(json.Unmarshal([]byte(field.Raw()), &reasoning) == nil, field.Raw())
	}
	return reasoning
}

func check(holds bool, what any) {
	if !holds {
		log.Fatalf("not as expected: %v", what)
	}
}

func converse(ask func(messages) (openai.ChatCompletionMessage, string)) {
	var sent messages
	for _, question := range []string{"How warm are Oslo and Rome? Report it.", "And how warm are they now?"} {
		sent = append(sent, openai.UserMessage(question))
		calling, reasoning := ask(sent)
		check(reasoning == thought, reasoning)
		back := calling.ToAssistantMessageParam()
		back.SetExtraFields(map[string]any{"reasoning_content": reasoning})
		sent = append(sent, openai.ChatCompletionMessageParamUnion{OfAssistant: &back})
		var cities []string
		for _, call := range calling.ToolCalls {
			var input struct{ City string }
			check(json.Unmarshal([]byte(call.Function.Arguments), &input) == nil, call.Function.Arguments)
			cities = append(cities, input.City)
			sent = append(sent, openai.ToolMessage(weather[input.City], call.ID))
		}
		slices.Sort(cities)
		check(slices.Equal(cities, []string{"Oslo", "Rome"}), cities)
		answer, _ := ask(sent)
		check(answer.Content == "Oslo 7, Rome 19", answer.Content)
		sent = append(sent, answer.ToParam())
	}
}

func main() {
	converse(whole)
	converse(streamed)
}
