// Reloads the page while a synchronization runs.
"use strict";

if (document.querySelector("[data-sync-running]")) setTimeout(() => location.reload(), 2_000);
