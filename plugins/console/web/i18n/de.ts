import type { Messages } from './en.ts'
import { common } from './de/general.ts'
import { errors } from './de/errors.ts'
import { home } from './de/home.ts'
import { library } from './de/library.ts'
import { signIn } from './de/sign-in.ts'

export const de: Messages = { common, errors, home, library, signIn }
