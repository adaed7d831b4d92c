import type { Messages } from '../en.ts'

export const home: Messages['home'] = {
  title: 'Start',
  greeting: (name) => `Hallo, ${name}`,
  recent: 'Zuletzt hinzugefügt',
  all: 'Alle zeigen',
  continue: 'Weiterspielen',
  noContinue: 'Spiele, die du spielst, erscheinen hier, damit du zu ihnen zurückfindest.',
  playing: 'Wird gerade gespielt',
  since: (time) => `begonnen ${time}`,
  favorites: 'Favoriten',
  noFavorites: 'Wähle in der Bibliothek Spiele aus und markiere sie als Favorit. Dann sind sie immer nur einen Schritt entfernt.',
  collections: 'Sammlungen',
  noCollections: 'Sammlungen vereinen Spiele beliebiger Plattformen, von Hand oder durch Filter.',
  newCollection: 'Sammlung anlegen',
  openLibrary: 'Bibliothek öffnen',
  surprise: 'Überrasch mich',
  another: 'Ein anderes',
  random: 'Wie wäre es damit?',
  view: 'Spiel ansehen',
  previous: (row) => `Zurück in ${row}`,
  next: (row) => `Weiter in ${row}`
}
