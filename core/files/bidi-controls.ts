/**
 * Characters that change the direction of text: names with them look like other names. They are not in `typebox.ts`,
 * because the threads that read files would load its library, 200 modules, for this line.
 */
export const BIDI_CONTROLS = '\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069'
