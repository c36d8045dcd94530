/** Where the tools API is, and the headers of its own. */

export const toolsPrefix = "/api/tools";
export const mcpPath = "/mcp";
/** Takes a file ahead of its ticket. */
export const attachmentsPath = "/api/tools-attachments";
/** The file's name, percent-encoded. */
export const attachmentNameHeader = "x-attachment-name";
/** Of a call: the id of a file that was sent ahead. */
export const attachmentHeader = "x-attachment";
