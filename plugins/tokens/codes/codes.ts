import { randomInt } from 'node:crypto'

/** Without what looks like something else: I, L, O, 0 and 1. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const CODE_LENGTH = 8

/** A code that people read from one screen and type into another. */
export const makeCode = () =>
  Array.from({ length: CODE_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('')

/** A code as it was made, however it was typed. */
export const readCode = (typed: string) => typed.replaceAll(/[\s-]/g, '').toUpperCase()
