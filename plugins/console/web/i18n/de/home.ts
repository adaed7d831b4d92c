import type { Messages } from '../en.ts'

export const home: Messages['home'] = {
  title: 'Start',
  greeting: (name) => `Hallo, ${name}`,
  recent: 'Neu hinzugefügt',
  all: 'Alle anzeigen'
}
