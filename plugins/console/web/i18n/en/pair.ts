/** The page on which a device with a code is approved. */
export const pair = {
  title: 'Connect a device',
  code: 'Code on the device',
  codeHint: 'The device shows it while it waits. Upper and lower case are the same.',
  find: 'Continue',
  warning: (name: string) => `Approve only if the device is in front of you and shows this code. It will act as ${name}.`,
  scopes: 'The device may',
  name: 'Name of the device',
  approve: 'Approve',
  deny: 'Deny',
  approved: { title: 'Connected', text: 'Continue on the device. You can disconnect it in your account at any time.' },
  denied: { title: 'Denied', text: 'The device gets no access.' },
  home: 'To the start page'
}
