import { dictionary } from '@zxcvbn-ts/language-common'

const COUNT = 3_000
/** Shorter passwords are refused for their length. */
const LENGTH_MIN = 8

/** Common passwords in lower case, from leaked passwords ordered by frequency. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(dictionary['passwords-common']
  .filter((password) => password.length >= LENGTH_MIN).slice(0, COUNT))
