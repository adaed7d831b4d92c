import { createFormat } from '../format.ts'
import type { Messages } from '../en.ts'

const { plural } = createFormat('de')

export const common: Messages['common'] = {
  appName: 'svc',
  skip: 'Zum Inhalt springen',
  navigation: 'Hauptnavigation',
  nav: { home: 'Start', library: 'Bibliothek', platforms: 'Plattformen', collections: 'Sammlungen', account: 'Konto', server: 'Server' },
  searchPlaceholder: 'Bibliothek durchsuchen',
  searchHint: '/ drücken, um zu suchen',
  inbox: 'Benachrichtigungen',
  accountMenu: 'Konto',
  signOut: 'Abmelden',
  signIn: 'Anmelden',
  guest: 'Gast',
  theme: { title: 'Darstellung', system: 'Wie das Gerät', light: 'Hell', dark: 'Dunkel' },
  language: 'Sprache',
  apiDocs: 'API-Dokumentation',
  close: 'Schließen',
  cancel: 'Abbrechen',
  save: 'Speichern',
  saved: 'Gespeichert.',
  remove: 'Entfernen',
  retry: 'Noch einmal versuchen',
  loading: 'Lädt',
  add: 'Hinzufügen',
  back: 'Zurück',
  showPassword: 'Passwort anzeigen',
  hidePassword: 'Passwort verbergen',
  games: (count) => plural(count, { one: '# Spiel', other: '# Spiele' }),
  unreachable: 'Der Server antwortet nicht. Diese Seite macht von selbst weiter, sobald er antwortet.',
  sessionEnded: 'Du wurdest abgemeldet.',
  dropFiles: 'Dateien hier ablegen oder auswählen',
  chooseFiles: 'Dateien auswählen',
  required: 'Gib einen Wert ein.',
  notNumber: 'Gib eine Zahl ein.',
  tooSmall: (minimum) => `Gib mindestens ${minimum} ein.`,
  tooLarge: (maximum) => `Gib höchstens ${maximum} ein.`,
  secretStored: 'Gespeichert. Tippe, um ihn zu ersetzen.'
}
