import { describeCounters } from "../../contracts/counters.ts";
import { openEmbeddedHarness } from "../../support/counters/embedded.ts";

describeCounters("counters in Maps", openEmbeddedHarness);
