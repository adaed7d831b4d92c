/** Returns a foreign text as one line for a terminal, on which its control characters would act. */
export const terminalLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ')
