// Reads a dashboard with the types that Grafana publishes: an unknown field and a missing required field are mistakes.
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	text, err := os.ReadFile(os.Args[1])
	stopAt(err)
	var read dashboard.Dashboard
	stopAt(read.UnmarshalJSONStrict(text))
	stopAt(read.Validate())
	fmt.Printf("%d panels", len(read.Panels))
}

// The package returns an empty list of errors if there is none.
func stopAt(err error) {
	if err != nil && err.Error() != "" {
		fmt.Println(err)
		os.Exit(1)
	}
}
