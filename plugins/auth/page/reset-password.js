/* global document, location, history, fetch */
const base = document.currentScript.src.replace(/\/reset-password\.js.*$/, '')
const say = (text) => { document.getElementById('message').textContent = text }
const [form] = document.forms

const token = new URLSearchParams(location.search).get('token') ?? ''
// The link is a password for as long as it lasts: it does not stay in the history.
history.replaceState(null, '', location.pathname)

/** The value that a page of another site cannot read, so that it cannot send it. */
const readCsrf = () => /(?:^|; )svc_csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? ''

async function setPassword (password) {
  const reply = await fetch(`${base}/api/reset-password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrftoken': readCsrf() },
    body: JSON.stringify({ token, new_password: password })
  })
  if (reply.ok) return
  const isJson = reply.headers.get('content-type')?.includes('json')
  throw new Error(isJson ? (await reply.json()).detail : await reply.text())
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const { password, again } = form.elements
  if (password.value !== again.value) return say('The two passwords differ.')
  try {
    await setPassword(password.value)
    form.hidden = true
    say('The password is set. Sign in with it.')
  } catch (err) {
    say(err.message)
  }
})

if (token === '') {
  form.hidden = true
  say('This page is opened by the link you were sent; open the whole link.')
}
