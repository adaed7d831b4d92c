/** Platforms, the grid of games, and the page of one. */
export const library = {
  title: 'Library',
  all: 'All games',
  platforms: 'Platforms',
  noPlatforms: {
    title: 'Your library is empty',
    text: 'Put games into a folder for each platform, such as roms/snes, then scan the library.',
    action: 'Scan the library'
  },
  noGames: { title: 'No games here', text: 'Nothing matches. Change the search, or remove a filter.' },
  search: 'Search in this list',
  order: 'Order',
  orders: { name: 'Name', created_at: 'Newest first', fs_size_bytes: 'Size', first_release_date: 'Release date', average_rating: 'Rating' },
  jumpTo: (letter: string) => `Jump to ${letter}`,
  letters: 'Jump to a letter',
  missing: 'Missing from disk',
  firmwareMissing: (names: string) => `Firmware is missing from disk: ${names}`,
  firmware: 'Firmware missing',
  empty: 'Empty',
  downloadPlatform: 'Download as zip',
  hasSiblings: 'Has other versions',
  size: 'Cover size',
  coverOf: (name: string) => `Cover of ${name}`
}
