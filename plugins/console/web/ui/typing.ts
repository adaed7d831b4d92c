const TEXT = 'textarea, [contenteditable], select, input:not([type=checkbox], [type=radio], [type=range], [type=file])'

/** True if an element takes letters, so that a key is no shortcut there. */
export const isTyping = (target: EventTarget | null): boolean => target instanceof Element && target.matches(TEXT)
