/** One answer of the search, and the view that it opens. */
export interface SearchEntry {
  readonly id: string
  readonly group: SearchGroup
  readonly label: string
  readonly note: string
  /** The path of a stored picture; empty for none. */
  readonly picture: string
  readonly target: string
}
export type SearchGroup = 'recent' | 'games' | 'platforms' | 'collections' | 'users'

interface FoundCollection {
  readonly name: string
  readonly target: string
  readonly picture: string
  readonly count: string
}

/** What the server or the pages know, each in the order in which it is shown. */
export interface Sources {
  readonly platforms: readonly { readonly slug: string, readonly name: string, readonly count: string }[]
  readonly collections: readonly FoundCollection[]
  readonly users: readonly { readonly id: number, readonly username: string }[]
}

const FOUND_MAX = 4

/** The rank of a name for a search: a beginning is better than the middle; null if a word is missing. */
export function rankOf (name: string, term: string): number | null {
  const text = name.toLowerCase()
  const words = term.toLowerCase().split(/\s+/).filter((word) => word !== '')
  if (words.length === 0 || !words.every((word) => text.includes(word))) return null
  if (text.startsWith(words.join(' '))) return 0
  return text.split(/\s+/).some((part) => words.some((word) => part.startsWith(word))) ? 1 : 2
}

function findBest<Item extends { name: string }> (items: readonly Item[], term: string): Item[] {
  return items.flatMap((item) => {
    const rank = rankOf(item.name, term)
    return rank === null ? [] : [{ item, rank }]
  }).sort((one, other) => one.rank - other.rank).slice(0, FOUND_MAX).map(({ item }) => item)
}

/** Finds platforms, collections and users by name. */
export function findEntries ({ platforms, collections, users }: Sources, term: string): SearchEntry[] {
  return [
    ...findBest(platforms, term).map(({ slug, name, count }): SearchEntry =>
      ({ id: `platform-${slug}`, group: 'platforms', label: name, note: count, picture: '', target: `platforms/${encodeURIComponent(slug)}` })),
    ...findBest(collections, term).map(({ name, target, picture, count }): SearchEntry =>
      ({ id: target, group: 'collections', label: name, note: count, picture, target })),
    ...findBest(users.map(({ id, username }) => ({ id, name: username })), term).map(({ id, name }): SearchEntry =>
      ({ id: `user-${id}`, group: 'users', label: name, note: '', picture: '', target: `collections?find=${encodeURIComponent(name)}` }))
  ]
}

const RECENT_MAX = 6

/** Puts a search first among the recent ones. */
export function addRecent (recent: readonly string[], term: string): string[] {
  const text = term.trim()
  return text === '' ? [...recent] : [text, ...recent.filter((other) => other.toLowerCase() !== text.toLowerCase())].slice(0, RECENT_MAX)
}
