import { createFormat } from '../format.ts'

const { plural } = createFormat('en')

/** Words of several pages, and of the frame around them. */
export const common = {
  appName: 'svc',
  skip: 'Skip to the content',
  navigation: 'Main',
  nav: { home: 'Home', library: 'Library', platforms: 'Platforms', collections: 'Collections', account: 'Account', server: 'Server' },
  searchPlaceholder: 'Search your library',
  searchHint: 'Press / to search',
  inbox: 'Notifications',
  accountMenu: 'Account',
  signOut: 'Sign out',
  signIn: 'Sign in',
  guest: 'Guest',
  theme: { title: 'Appearance', system: 'Like the device', light: 'Light', dark: 'Dark' },
  language: 'Language',
  apiDocs: 'API documentation',
  close: 'Close',
  cancel: 'Cancel',
  save: 'Save',
  saved: 'Saved.',
  remove: 'Remove',
  retry: 'Try again',
  loading: 'Loading',
  add: 'Add',
  back: 'Back',
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  games: (count: number) => plural(count, { one: '# game', other: '# games' }),
  unreachable: 'The server does not answer. This page goes on by itself as soon as it does.',
  sessionEnded: 'You were signed out.',
  dropFiles: 'Drop files here, or choose them',
  chooseFiles: 'Choose files',
  required: 'Enter a value.',
  notNumber: 'Enter a number.',
  tooSmall: (minimum: number) => `Enter at least ${minimum}.`,
  tooLarge: (maximum: number) => `Enter at most ${maximum}.`,
  secretStored: 'Stored. Type to replace it.'
}
