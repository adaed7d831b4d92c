/** Sign-in, and the first account. */
export const signIn = {
  title: 'Welcome back',
  username: 'Username',
  password: 'Password',
  submit: 'Sign in',
  withProvider: (name: string) => name === '' ? 'Sign in with your provider' : `Sign in with ${name}`,
  or: 'or',
  ended: 'Your session ended. Sign in again to go on where you were.',
  noPassword: 'This server accepts no passwords. Ask the person who runs it how to sign in.',
  forgot: 'Forgot your password?',
  first: {
    title: 'Welcome to svc',
    text: 'Create the first account. It runs this server: it adds libraries, invites people and changes settings.',
    email: 'E-mail (optional)',
    again: 'Password again',
    differ: 'The two passwords differ. Enter the same one twice.',
    code: 'Setup code',
    codeHint: 'The server printed this code when it started. It is needed because you are on another machine.',
    submit: 'Create account'
  }
}
