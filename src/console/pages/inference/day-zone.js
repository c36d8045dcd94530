// Offers days in the browser's time zone. Without it, the account page has all zones.
"use strict";

{
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  for (const offer of document.querySelectorAll("[data-zone-offer]")) {
    if (!timeZone || timeZone === offer.dataset.zoneOffer) continue;
    offer.querySelector("input").value = timeZone;
    offer.querySelector("button").textContent = `Use ${timeZone}`;
    offer.hidden = false;
  }
}
