import { account } from './en/account.ts'
import { collections } from './en/collections.ts'
import { common } from './en/general.ts'
import { errors } from './en/errors.ts'
import { home } from './en/home.ts'
import { library } from './en/library.ts'
import { notifications } from './en/notifications.ts'
import { pair } from './en/pair.ts'
import { rom } from './en/rom.ts'
import { setup } from './en/setup.ts'
import { list } from './en/list.ts'
import { search } from './en/search.ts'
import { signIn } from './en/sign-in.ts'
import { upload } from './en/upload.ts'

/** Every text of the console, one file for each page. Further languages have the same type. */
export const en = {
  account, collections, common, errors, home, library, list, notifications,
  pair, rom, search, setup, signIn, upload
}
export type Messages = typeof en
