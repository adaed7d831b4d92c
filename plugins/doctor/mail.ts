import { mailConfig } from '../mail/config.ts'
import { ADDRESS, createTransporter } from '../mail/transport.ts'
import { type DoctorCheck, type Finding, fail, ok, reasonOf } from './finding.ts'

const SUBJECT = 'mail'
const REMEDY = 'Check the settings that begin with SMTP_, and that this machine can reach that port'

/** Checks the mail server: greeting, TLS and sign-in. Sends a mail if there is a recipient. */
export const examineMail: DoctorCheck = async ({ config, mailTo }): Promise<Finding[]> => {
  const mail = mailConfig.of(config)
  const { host, port, from = mail.username } = mail
  if (host === undefined) {
    const message = 'No mail server is set: the server cannot send reset links and notifications by mail'
    return [mailTo === null ? ok(SUBJECT, message) : fail(SUBJECT, message, 'Set SMTP_HOST and SMTP_FROM')]
  }
  if (from === undefined) return [fail(SUBJECT, 'SMTP_HOST is set, but no sender', 'Set SMTP_FROM to the sender of mails')]
  if (mailTo !== null && !ADDRESS.test(mailTo)) return [fail(SUBJECT, `'${mailTo}' is not one email address`, 'Use name@example.org')]
  const transporter = await createTransporter(mail)
  try {
    await transporter.verify()
    if (mailTo === null) return [ok(SUBJECT, `${host}:${port} accepts mail; --mail <address> sends a test mail`)]
    await transporter.sendMail({
      from, to: { name: '', address: mailTo }, subject: 'A test mail from svc', text: 'svc doctor sent this test mail.\n'
    })
    return [ok(SUBJECT, `${host}:${port} accepted a mail to ${mailTo}`)]
  } catch (err) {
    return [fail(SUBJECT, `${host}:${port} does not accept mail: ${reasonOf(err)}`, REMEDY)]
  } finally {
    transporter.close()
  }
}
