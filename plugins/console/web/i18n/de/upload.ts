import { createFormat } from '../format.ts'
import type { Messages } from '../en.ts'

const { plural } = createFormat('de')

export const upload: Messages['upload'] = {
  title: 'Spiele hinzufügen',
  drop: 'Spiele hier ablegen',
  dropHint: 'Jedes Spiel ist eine Datei, etwa Spiel.sfc oder Spiel.zip.',
  platformOf: (count) => plural(count, { one: 'Für welche Plattform ist dieses Spiel?', other: 'Für welche Plattform sind diese # Spiele?' }),
  states: {
    choose: 'wähle eine Plattform',
    queued: 'wartet',
    sending: 'wird gesendet',
    waiting: 'die Verbindung ist weg; es geht von selbst weiter',
    finishing: 'kommt in die Bibliothek',
    done: 'ist in der Bibliothek',
    failed: 'gescheitert'
  },
  empty: 'Diese Datei ist leer. Sieh nach, woher sie kommt.',
  unreadable: 'Der Browser kann diese Datei nicht mehr lesen. Wähle sie noch einmal.',
  folders: (names) => `Ordner werden nicht hinzugefügt: ${names}. Lege die Dateien darin ab, jedes Spiel als eine Datei.`,
  failed: 'Das Hochladen ist gescheitert. Versuche es noch einmal.',
  done: (count) => plural(count, { one: '# Spiel ist in deiner Bibliothek.', other: '# Spiele sind in deiner Bibliothek.' }),
  interrupted: 'Unfertige Uploads',
  chooseAgain: 'unterbrochen; wähle die Datei noch einmal, dann geht es an derselben Stelle weiter',
  retryNamed: (name) => `Noch einmal versuchen: ${name}`,
  cancelNamed: (name) => `${name} abbrechen`,
  forgetNamed: (name) => `${name} ausblenden`,
  otherTitle: 'Viele Spiele auf einmal?',
  otherText: 'Kopiere sie lieber in den Ordner der Bibliothek auf dem Server: ein Ordner für jede Plattform. Der nächste Scan findet sie.',
  example: 'roms/\n  snes/\n    Erstes Spiel.sfc\n  gba/\n    Zweites Spiel.gba'
}
