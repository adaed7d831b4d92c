import { common } from './en/general.ts'
import { errors } from './en/errors.ts'
import { home } from './en/home.ts'
import { library } from './en/library.ts'
import { signIn } from './en/sign-in.ts'

/** Every text of the console, one file for each page. Further languages have the same type. */
export const en = { common, errors, home, library, signIn }
export type Messages = typeof en
