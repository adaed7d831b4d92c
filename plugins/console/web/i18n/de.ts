import type { Messages } from './en.ts'
import { account } from './de/account.ts'
import { collections } from './de/collections.ts'
import { common } from './de/general.ts'
import { errors } from './de/errors.ts'
import { home } from './de/home.ts'
import { library } from './de/library.ts'
import { notifications } from './de/notifications.ts'
import { pair } from './de/pair.ts'
import { rom } from './de/rom.ts'
import { setup } from './de/setup.ts'
import { list } from './de/list.ts'
import { search } from './de/search.ts'
import { signIn } from './de/sign-in.ts'
import { upload } from './de/upload.ts'

export const de: Messages = {
  account, collections, common, errors, home, library, list, notifications,
  pair, rom, search, setup, signIn, upload
}
