import type { Messages } from '../en.ts'

export const signIn: Messages['signIn'] = {
  title: 'Willkommen zurück',
  username: 'Benutzername',
  password: 'Passwort',
  submit: 'Anmelden',
  withProvider: (name) => name === '' ? 'Mit deinem Anbieter anmelden' : `Mit ${name} anmelden`,
  or: 'oder',
  ended: 'Deine Sitzung ist beendet. Melde dich wieder an, um weiterzumachen, wo du warst.',
  noPassword: 'Dieser Server nimmt keine Passwörter an. Frag den Menschen, der ihn betreibt, wie du dich anmeldest.',
  forgot: 'Passwort vergessen?',
  first: {
    title: 'Willkommen bei svc',
    text: 'Lege das erste Konto an. Es verwaltet diesen Server: Bibliotheken, Einladungen und Einstellungen.',
    email: 'E-Mail (freiwillig)',
    again: 'Passwort wiederholen',
    differ: 'Die beiden Passwörter sind verschieden. Gib zweimal dasselbe ein.',
    code: 'Einrichtungscode',
    codeHint: 'Der Server hat diesen Code beim Start ausgegeben. Er ist nötig, weil du an einem anderen Rechner sitzt.',
    submit: 'Konto anlegen'
  }
}
