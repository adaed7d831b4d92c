import { createFormat } from '../format.ts'

const { plural } = createFormat('en')

/** The search across the whole server. */
export const search = {
  title: 'Search',
  placeholder: 'Games, platforms, collections',
  open: 'Search your library',
  games: 'Games',
  platforms: 'Platforms',
  collections: 'Collections',
  users: 'Users',
  recent: 'Searched before',
  showAll: 'Show all in the library',
  showCounted: (count: number) => plural(count, { one: 'Show # game in the library', other: 'Show all # games in the library' }),
  none: (term: string) => `Nothing is called “${term}”. Try fewer or other words.`,
  hint: 'Type a name, or a checksum of a file.',
  found: (count: number) => plural(count, { one: '# result', other: '# results' }),
  keys: { move: 'move', open: 'open', close: 'close' }
}
