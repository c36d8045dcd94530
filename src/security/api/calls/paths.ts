/** The paths and headers of the tools API. */

export const toolsPrefix = "/api/tools";
export const mcpPath = "/mcp";
/** Receives a file before its ticket. */
export const attachmentsPath = "/api/tools-attachments";
/** The file's name, percent-encoded. */
export const attachmentNameHeader = "x-attachment-name";
/** In a call: the id of a file that was sent before. */
export const attachmentHeader = "x-attachment";
