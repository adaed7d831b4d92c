import type { Messages } from '../en.ts'

export const signIn: Messages['signIn'] = {
  title: 'Willkommen zurück',
  username: 'Benutzername',
  usernameRule: 'Mindestens 3 Buchstaben oder Ziffern; _ und - sind erlaubt.',
  password: 'Passwort',
  submit: 'Anmelden',
  withProvider: (name) => name === '' ? 'Mit deinem Anbieter anmelden' : `Mit ${name} anmelden`,
  or: 'oder',
  ended: 'Deine Sitzung ist beendet. Melde dich wieder an, um weiterzumachen, wo du warst.',
  noPassword: 'Dieser Server nimmt keine Passwörter an. Frag den Menschen, der ihn betreibt, wie du dich anmeldest.',
  forgot: 'Passwort vergessen?',
  toSignIn: 'Zur Anmeldung',
  openidFailed: 'Dein Anbieter hat dich nicht angemeldet. Versuche es noch einmal.',
  strength: 'Mindestens 8 Zeichen; ein paar zufällige Wörter sind gut.',
  strengths: ['Zu kurz: mindestens 8 Zeichen.', 'Leicht zu erraten.', 'Mittelmäßig.', 'Stark.', 'Sehr stark.'],
  register: {
    title: 'Du bist eingeladen',
    text: 'Wähle einen Namen und ein Passwort. Danach bist du gleich angemeldet.',
    submit: 'Konto anlegen',
    incomplete: 'Die Adresse dieser Seite ist nicht vollständig. Öffne den ganzen Link, den du bekommen hast.'
  },
  forgotten: {
    title: 'Passwort vergessen?',
    text: 'Gib deinen Benutzernamen ein. Hat das Konto eine E-Mail-Adresse, kommt dort ein Link für ein neues Passwort an.',
    submit: 'Link senden',
    sent: 'Wenn es das Konto gibt und es eine E-Mail-Adresse hat, ist der Link unterwegs. Er gilt 10 Minuten.',
    noMail: 'Dieser Server kann keine Mails senden. Bitte den Menschen, der ihn betreibt, um ein neues Passwort.'
  },
  reset: {
    title: 'Neues Passwort wählen',
    text: 'Es ersetzt das bisherige und meldet dich überall sonst ab.',
    password: 'Neues Passwort',
    submit: 'Passwort setzen',
    askAgain: 'Neuen Link anfordern',
    done: 'Das Passwort ist gesetzt. Melde dich damit an.',
    incomplete: 'Die Adresse dieser Seite ist nicht vollständig. Öffne den ganzen Link aus der Mail oder fordere einen neuen an.'
  },
  first: {
    title: 'Willkommen bei svc',
    text: 'Lege das erste Konto an. Es verwaltet diesen Server: Bibliotheken, Einladungen und Einstellungen.',
    email: 'E-Mail (freiwillig)',
    again: 'Passwort wiederholen',
    differ: 'Die beiden Passwörter sind verschieden. Gib zweimal dasselbe ein.',
    code: 'Einrichtungscode',
    codeHint: 'Der Server hat diesen Code beim Start ausgegeben. Er ist nötig, weil du an einem anderen Rechner sitzt.',
    codeWrong: 'Das ist nicht der Einrichtungscode. Sieh in die neuesten Zeilen, die der Server ausgegeben hat.',
    submit: 'Konto anlegen'
  }
}
