/** The start page. */
export const home = {
  title: 'Home',
  greeting: (name: string) => `Hello, ${name}`,
  recent: 'Recently added',
  all: 'Show all',
  continue: 'Continue playing',
  noContinue: 'Games that you play appear here, so that you find back to them.',
  playing: 'Playing now',
  since: (time: string) => `started ${time}`,
  favorites: 'Favourites',
  noFavorites: 'Select games in the library and choose “Favourite”. They are one step away from then on.',
  collections: 'Collections',
  noCollections: 'Collections gather games of any platform, by hand or by filters.',
  newCollection: 'Create a collection',
  openLibrary: 'Open the library',
  surprise: 'Surprise me',
  another: 'Another one',
  random: 'How about this one?',
  view: 'View game',
  previous: (row: string) => `Back in ${row}`,
  next: (row: string) => `On in ${row}`
}
