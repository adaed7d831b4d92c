/** Returns the direction of the page, which its language decides. */
export const readDirection = (): 'ltr' | 'rtl' => document.documentElement.dir === 'rtl' ? 'rtl' : 'ltr'

const MIRRORED: Readonly<Record<string, string>> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' }

/** Returns the key as if the page were written from left to right. */
export const readKey = ({ key }: KeyboardEvent): string => readDirection() === 'rtl' ? MIRRORED[key] ?? key : key
