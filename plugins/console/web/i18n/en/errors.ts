/** The pages that stand in for another one. */
export const errors = {
  notFound: { title: 'There is nothing here', text: 'The address may be wrong, or what it showed was removed.', action: 'Go to the start page' },
  forbidden: { title: 'This page is not for you', text: 'Your account may not see it. An administrator can change that.', guest: 'Guests may not see it. Sign in with your account.', action: 'Go to the start page' },
  failed: { title: 'This did not work', text: 'The page failed to load.' },
  unreachable: { title: 'The server does not answer', text: 'Check that it runs and that you are in its network. This page goes on by itself as soon as the server answers.' },
  tooLarge: 'A proxy in front of the server accepts nothing of this size. Raise its limit, such as client_max_body_size of nginx.',
  status: (status: number) => `The server, or a proxy in front of it, answered with status ${status} and no reason.`,
  crashed: { title: 'This page has a bug', text: 'Load it again. If that does not help, report the lines below.', action: 'Load again', details: 'Details' },
  outdated: { title: 'The server was updated', text: 'This part of the old version is gone. Load the page again to use the new one.', action: 'Load again' }
}
