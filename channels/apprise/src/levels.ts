import type { MessageType } from './render.ts'

/** Colours of message types, as 0xRRGGBB, for services that show one. */
export const COLORS: Readonly<Record<MessageType, number>> = {
  info: 0x3498db, success: 0x2ecc71, warning: 0xf1c40f, failure: 0xe74c3c
}

export function toHexColor (type: MessageType): string {
  return `#${COLORS[type].toString(16).padStart(6, '0')}`
}
