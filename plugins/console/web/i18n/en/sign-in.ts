/** Sign-in, and the first account. */
export const signIn = {
  title: 'Welcome back',
  username: 'Username',
  usernameRule: 'At least 3 letters or digits; _ and - are allowed.',
  password: 'Password',
  submit: 'Sign in',
  withProvider: (name: string) => name === '' ? 'Sign in with your provider' : `Sign in with ${name}`,
  or: 'or',
  ended: 'Your session ended. Sign in again to go on where you were.',
  noPassword: 'This server accepts no passwords. Ask the person who runs it how to sign in.',
  forgot: 'Forgot your password?',
  toSignIn: 'To the sign-in',
  openidFailed: 'Your provider did not sign you in. Try again.',
  strength: 'At least 8 characters; a few random words are good.',
  strengths: ['Too short: at least 8 characters.', 'Easy to guess.', 'Fair.', 'Strong.', 'Very strong.'],
  register: {
    title: 'You are invited',
    text: 'Choose a name and a password. You are signed in at once.',
    submit: 'Create account',
    incomplete: 'The address of this page is not complete. Open the whole link that you received.'
  },
  forgotten: {
    title: 'Forgot your password?',
    text: 'Enter your username. If the account has an e-mail address, a link for a new password arrives there.',
    submit: 'Send the link',
    sent: 'If the account exists and has an e-mail address, the link is on its way. It is valid for 10 minutes.',
    noMail: 'This server cannot send mails. Ask the person who runs it for a new password.'
  },
  reset: {
    title: 'Choose a new password',
    text: 'It replaces the former one, and signs you out everywhere else.',
    password: 'New password',
    submit: 'Set password',
    askAgain: 'Ask for a new link',
    done: 'The password is set. Sign in with it.',
    incomplete: 'The address of this page is not complete. Open the whole link of the mail, or ask for a new one.'
  },
  first: {
    title: 'Welcome to svc',
    text: 'Create the first account. It runs this server: it adds libraries, invites people and changes settings.',
    email: 'E-mail (optional)',
    again: 'Password again',
    differ: 'The two passwords differ. Enter the same one twice.',
    code: 'Setup code',
    codeHint: 'The server printed this code when it started. It is needed because you are on another machine.',
    codeWrong: 'This is not the setup code. Look at the newest lines that the server printed.',
    submit: 'Create account'
  }
}
