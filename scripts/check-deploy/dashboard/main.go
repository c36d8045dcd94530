// Reads a dashboard with the types that Grafana publishes: a field that they do not know, and one that they need, is a mistake.
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

// The package gives an empty list of mistakes where there is none.
func stopAt(err error) {
	if err != nil && err.Error() != "" {
		fmt.Println(err)
		os.Exit(1)
	}
}
