// Runs in the browser. It checks what is typed and makes the credentials file there: nothing is sent anywhere.
"use strict";

const form = document.querySelector("form");
if (form) setUp(form);
for (const button of document.querySelectorAll("[data-copies]")) offerCopy(button);

function setUp(form) {
  // Replaces the browser's messages. These say what is wrong next to the field, stay there, and are read out.
  form.noValidate = true;
  for (const part of document.querySelectorAll("main [data-scripted]:not([data-copies])")) part.hidden = false;
  for (const button of form.querySelectorAll("[data-reveals]")) button.addEventListener("click", () => reveal(button));
  for (const file of form.querySelectorAll("[data-fills]")) file.addEventListener("change", () => fill(file));
  for (const radio of document.querySelectorAll(".chooser input")) radio.addEventListener("change", () => choose(radio.value));
  const chosen = document.querySelector(".chooser input:checked");
  if (chosen) choose(chosen.value);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save(form);
  });
  form.addEventListener("input", (event) => {
    if (event.target.getAttribute("aria-invalid") === "true") tell(event.target, problemOf(event.target));
    form.querySelector("[role=status]").textContent = "";
  });
}

/** Shows one of several sets of credentials: its grant, its form and its command. */
function choose(number) {
  for (const part of document.querySelectorAll("[data-set]")) {
    part.hidden = part.dataset.set !== number;
    if (part instanceof HTMLFieldSetElement) part.disabled = part.hidden;
  }
}

function reveal(button) {
  const shown = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(shown));
  const field = document.getElementById(button.dataset.reveals);
  if (field instanceof HTMLTextAreaElement) field.classList.toggle("secret", !shown);
  else field.type = shown ? "text" : "password";
}

async function fill(chooser) {
  const [file] = chooser.files;
  if (!file) return;
  const field = document.getElementById(chooser.dataset.fills);
  const text = file.size <= 4 * field.maxLength ? await file.text() : "";
  if (text === "" || text.length > field.maxLength) {
    tell(field, `“${file.name}” is no file of 1 to ${field.maxLength} characters`);
  } else {
    field.value = text;
    tell(field, problemOf(field));
  }
}

function save(form) {
  const fields = [...form.querySelectorAll("[data-set]:not([hidden]) [data-kind]")];
  for (const field of fields) tell(field, problemOf(field));
  const wrong = fields.find((field) => field.getAttribute("aria-invalid") === "true");
  if (wrong) return wrong.focus();
  const filled = fields.map(({ name, value }) => [name, value.trim()]).filter(([, value]) => value !== "");
  const text = `${JSON.stringify(Object.fromEntries(filled), null, 2)}\n`;
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = form.dataset.file;
  link.click();
  // The browser reads the file after this turn.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  form.querySelector("[role=status]").textContent =
    `Your browser has saved ${form.dataset.file}. Connect with it as step 3 says, then delete it.`;
}

function tell(field, problem) {
  const place = document.getElementById(`${field.id}-problem`);
  place.textContent = problem ?? "";
  place.hidden = problem === null;
  if (problem === null) field.removeAttribute("aria-invalid");
  else field.setAttribute("aria-invalid", "true");
}

/** Checks the service's rules as far as a browser can. @returns null: no problem */
function problemOf(field) {
  const text = field.value.trim();
  const { label, kind } = field.dataset;
  if (text === "") return field.required ? `${label} is needed` : null;
  if (kind === "url" && !isAddress(text)) return "An address that begins with https:// is needed, without ? and #";
  if (kind === "email" && !/^[^\s@]+@[^\s@]+$/.test(text)) return "An e-mail address is needed";
  if (kind === "json") return isObject(text) ? null : "A JSON object is needed";
  const controls = kind === "multiline" ? text.replaceAll(/[\r\n\t]/g, "") : text;
  return /\p{Cc}/u.test(controls) ? "A text without control characters is needed" : null;
}

function isAddress(text) {
  if (!URL.canParse(text)) return false;
  const { protocol, username, search, hash, hostname } = new URL(text);
  return protocol === "https:" && username + search + hash === "" && /[.:]/.test(hostname);
}

function isObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function offerCopy(button) {
  if (!navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const command = document.getElementById(button.dataset.copies).textContent;
    const copied = await navigator.clipboard.writeText(command).then(
      () => true,
      () => false,
    );
    button.textContent = copied ? "Copied" : "Could not copy";
  });
}
