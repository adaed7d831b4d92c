import type { Messages } from '../en.ts'

export const library: Messages['library'] = {
  title: 'Bibliothek',
  all: 'Alle Spiele',
  platforms: 'Plattformen',
  noPlatforms: {
    title: 'Deine Bibliothek ist leer',
    text: 'Lege für jede Plattform einen Ordner mit Spielen an, etwa roms/snes, und durchsuche dann die Bibliothek.',
    action: 'Bibliothek durchsuchen'
  },
  noGames: { title: 'Keine Spiele', text: 'Nichts passt. Ändere die Suche oder entferne einen Filter.' },
  search: 'In dieser Liste suchen',
  order: 'Reihenfolge',
  orders: { name: 'Name', created_at: 'Neueste zuerst', fs_size_bytes: 'Größe', first_release_date: 'Erscheinungsdatum', average_rating: 'Bewertung' },
  jumpTo: (letter) => `Zu ${letter} springen`,
  letters: 'Zu einem Buchstaben springen',
  missing: 'Fehlt auf der Festplatte',
  firmwareMissing: (names) => `Auf der Festplatte fehlt Firmware: ${names}`,
  firmware: 'Firmware fehlt',
  empty: 'Leer',
  downloadPlatform: 'Als Zip herunterladen',
  hasSiblings: 'Hat weitere Fassungen',
  size: 'Größe der Cover',
  coverOf: (name) => `Cover von ${name}`
}
