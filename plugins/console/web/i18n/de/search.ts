import { createFormat } from '../format.ts'
import type { Messages } from '../en.ts'

const { plural } = createFormat('de')

export const search: Messages['search'] = {
  title: 'Suche',
  placeholder: 'Spiele, Plattformen, Sammlungen',
  open: 'Bibliothek durchsuchen',
  games: 'Spiele',
  platforms: 'Plattformen',
  collections: 'Sammlungen',
  users: 'Konten',
  recent: 'Zuletzt gesucht',
  showAll: 'Alle in der Bibliothek zeigen',
  showCounted: (count) => plural(count, { one: '# Spiel in der Bibliothek zeigen', other: 'Alle # Spiele in der Bibliothek zeigen' }),
  none: (term) => `Nichts heißt „${term}“. Versuche es mit weniger oder anderen Wörtern.`,
  hint: 'Tippe einen Namen oder die Prüfsumme einer Datei.',
  found: (count) => plural(count, { one: '# Treffer', other: '# Treffer' }),
  keys: { move: 'bewegen', open: 'öffnen', close: 'schließen' }
}
