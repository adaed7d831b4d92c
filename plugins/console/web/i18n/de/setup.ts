import { createFormat } from '../format.ts'
import type { Messages } from '../en.ts'

const { number, plural } = createFormat('de')

const DOES: Readonly<Record<string, string>> = {
  igdb: 'Texte, Wertungen, Cover und Screenshots für fast jedes Spiel.',
  ss: 'Texte, Cover, Videos und Anleitungen, auch für alte und seltene Spiele.',
  moby: 'Texte, Cover und Screenshots, stark bei Heimcomputern.',
  ra: 'Erfolge, gefunden am Inhalt der Datei.',
  sgdb: 'Cover, die Fans gezeichnet haben.',
  tgdb: 'Texte und Cover.',
  hasheous: 'Erkennt Spiele am Inhalt der Datei.',
  playmatch: 'Erkennt Spiele am Inhalt der Datei.',
  launchbox: 'Texte und Cover aus einer Datenbank auf diesem Server.',
  hltb: 'Wie lange man für Spiele braucht.',
  libretro: 'Cover und Screenshots nach dem Namen der Datei. Braucht kein Konto.',
  gamelist: 'Liest gamelist.xml neben deinen Spielen. Braucht kein Netz.',
  flashpoint: 'Spiele, die früher im Browser liefen.',
  steam: 'Texte und Bilder von PC-Spielen.',
  demozoo: 'Demos und wer sie gemacht hat.',
  pouet: 'Demos und wer sie gemacht hat.',
  csdb: 'Demos und Spiele für den C64.'
}

const OTHERS_DO: Readonly<Record<string, string>> = {
  'channel apprise': 'Sendet Benachrichtigungen über einen Apprise-Server an Telegram, Matrix und viele andere.',
  'channel email': 'Sendet Benachrichtigungen und Links für neue Passwörter als Mail.',
  'channel webhook': 'Sendet Benachrichtigungen an eine eigene Adresse.',
  'exporter gamelist': 'Schreibt gamelist.xml für ES-DE, Batocera und RetroBat.',
  'exporter pegasus': 'Schreibt metadata.pegasus.txt für Pegasus.'
}

export const setup: Messages['setup'] = {
  title: 'Einrichten',
  steps: { library: 'Deine Spiele', providers: 'Cover und Texte', scan: 'Erster Scan' },
  skip: 'Später',
  next: (step) => `Weiter: ${step}`,
  toHome: 'Zur Startseite',
  toLibrary: 'Zur Bibliothek',
  library: {
    title: 'Wo sind deine Spiele?',
    text: 'Der Server liest Spiele aus Ordnern auf seiner Festplatte, einem für jede Plattform. Er ändert sie nur, wenn du es willst.',
    folders: 'Ordner der Bibliothek',
    content: 'Was darin ist'
  },
  empty: 'Es gibt noch keine Ordner für Plattformen. Wenn deine Spiele in einem anderen Ordner sind, wähle oben „Ändern“. Sonst lege für jede ' +
    'Plattform einen Ordner an, wie unten, oder lege hier Spiele ab.',
  misplaced: (library, folders, place) =>
    `Die Bibliothek „${library}“ enthält ${folders} unmittelbar, der Server sucht Plattformen aber in ihrem Ordner „${place}“.`,
  misplacedParent: (path) => `Wenn das deine Plattformen sind, ändere den Ordner der Bibliothek in ${path}.`,
  misplacedLink: 'Wenn das deine Plattformen sind, lege auf dem Server einen Ordner mit einem Link dorthin an und ändere die Bibliothek in diesen Ordner:',
  emptyForOthers: 'Wer diesen Server betreibt, hat noch keine Spiele hinzugefügt, oder keine, die du sehen darfst.',
  files: (count) => plural(count, { one: '# Datei', other: '# Dateien' }),
  folders: (count) => plural(count, { one: '# Ordner', other: '# Ordner' }),
  free: (size) => `${size} frei`,
  readOnly: 'Nur lesen',
  unavailable: 'Der Ordner kann nicht gelesen werden.',
  change: 'Ändern',
  changeNamed: (name) => `${name} ändern`,
  addFolder: 'Ordner hinzufügen',
  dialog: {
    path: 'Ordner auf dem Server',
    pathHint: 'Der ganze Pfad. In einem Container der Pfad darin.',
    name: 'Name',
    writable: 'Der Server darf Dateien ändern',
    writableHint: 'Nötig, um Spiele hochzuladen, umzubenennen und zu löschen.'
  },
  unknown: {
    title: 'Ordner, die nicht verstanden wurden',
    text: 'Ihre Namen gehören zu keiner Plattform. Wähle die Plattform oder lass sie so: Ihre Spiele erscheinen dann ohne Cover.',
    choose: (folder) => `Plattform von ${folder}`
  },
  bound: (folder, platform) => `${folder} ist ab dem nächsten Scan ${platform}.`,
  providers: {
    title: 'Cover und Texte',
    text: 'Anbieter erkennen deine Spiele. Einige gehen sofort, andere brauchen ein kostenloses Konto. Du kannst sie später hinzufügen und neu scannen.',
    others: 'Mails, Nachrichten und Exporte',
    stored: (name: string) => `Die Einstellungen von ${name} sind gespeichert.`,
    groups: { ready: 'Funktionieren', account: 'Brauchen ein Konto', off: 'Frei, aber ausgeschaltet', failed: 'Funktionieren nicht' },
    states: { ready: 'An', account: 'Braucht Schlüssel', off: 'Aus', failed: 'Fehler' },
    does: DOES,
    othersDo: OTHERS_DO,
    test: 'Testen',
    testNamed: (name) => `${name} testen`,
    answers: 'Er antwortet.',
    silent: 'Er antwortet nicht. Prüfe das Netz des Servers und versuche es noch einmal.',
    silentBecause: (problem) => `Die Einstellungen sind gespeichert, aber der Anbieter antwortet nicht. ${problem}`,
    works: (name) => `${name} funktioniert. Der nächste Scan benutzt ihn.`,
    switchOn: 'Einschalten',
    switchOnNamed: (name) => `${name} einschalten`,
    enterKey: 'Schlüssel eingeben',
    settings: 'Einstellungen',
    settingsOf: (name) => `Einstellungen von ${name}`,
    saveAndTest: 'Speichern und testen',
    fixed: 'Wer den Server betreibt, hat diese festgelegt. Sie lassen sich nur dort ändern:',
    getAccount: (name) => `Schlüssel bei ${name} holen`
  },
  scan: {
    title: 'Erster Scan',
    text: 'Der Server sieht sich jede Datei an und findet heraus, welches Spiel sie ist. Deine Dateien bleiben, wie sie sind.',
    start: 'Scan starten',
    again: 'Noch einmal scannen',
    busy: 'Scannt',
    ready: 'Bereit, wenn du es bist.',
    nothing: 'Fertig. In den Ordnern der Bibliothek sind noch keine Spiele.',
    nothingNew: (scanned) => `Fertig: ${plural(scanned, { one: '# Spiel', other: '# Spiele' })}, nichts Neues.`,
    problems: (count) => plural(count, { one: 'Eines ging nicht:', other: '# Dinge gingen nicht:' }),
    moreProblems: (count) => `${number(count)} weitere stehen im Log des Servers.`,
    unrecognised: 'Kein Spiel wurde erkannt. Mit mehr Anbietern erkennt der nächste Scan mehr:',
    starting: 'Der Scan beginnt.',
    running: (platform, scanned, total) =>
      `${platform}: ${number(scanned)} von ${plural(total, { one: '# Spiel', other: '# Spielen' })}.`,
    done: (scanned, identified) =>
      `Fertig: ${plural(scanned, { one: '# Spiel', other: '# Spiele' })}, davon ${number(identified)} erkannt.`
  }
}
