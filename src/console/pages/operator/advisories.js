// Shows how far a synchronization is, without being asked.
"use strict";

if (document.querySelector("[data-sync-running]")) setTimeout(() => location.reload(), 2_000);
