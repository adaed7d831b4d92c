import { randomInt } from 'node:crypto'

/** Letters and digits without those that look alike: I, L, O, 0 and 1. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const CODE_LENGTH = 8

/** Creates a code that people read from one screen and type into another. */
export const createCode = () =>
  Array.from({ length: CODE_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('')

/** Normalizes a typed code. */
export const readCode = (typed: string) => typed.replaceAll(/[\s-]/g, '').toUpperCase()
