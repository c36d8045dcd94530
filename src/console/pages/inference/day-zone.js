// Offers days in the browser's time zone. Without it, the zone can be typed.
"use strict";

{
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  for (const offer of document.querySelectorAll("[data-zone-offer]")) {
    if (!timeZone || timeZone === offer.dataset.zoneOffer) continue;
    const address = new URL(offer.href);
    address.searchParams.set("tz", timeZone);
    offer.href = address.href;
    offer.textContent = `Show those of ${timeZone}`;
    offer.hidden = false;
  }
}
