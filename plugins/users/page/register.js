/* global document, location, history, fetch */
const base = document.currentScript.src.replace(/\/register\.js.*$/, '')
const say = (text) => { document.getElementById('message').textContent = text }
const [form] = document.forms

const token = new URLSearchParams(location.search).get('token') ?? ''
// The link lets anybody in once: it does not stay in the history.
history.replaceState(null, '', location.pathname)

/** The value that a page of another site cannot read, so that it cannot send it. */
const readCsrf = () => /(?:^|; )svc_csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? ''

async function register ({ username, email, password }) {
  const reply = await fetch(`${base}/api/users/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrftoken': readCsrf() },
    body: JSON.stringify({ username: username.value, email: email.value, password: password.value, token })
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
    await register(form.elements)
    form.hidden = true
    say('Your account is there. Sign in with it.')
  } catch (err) {
    say(err.message)
  }
})

if (token === '') {
  form.hidden = true
  say('This page is opened by the link you were sent; open the whole link.')
}
