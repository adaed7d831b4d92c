/* global document, location, history, fetch, FormData */
const { base } = document.currentScript.dataset
const say = (text) => { document.getElementById('message').textContent = text }
const [form] = document.forms
const { path, done } = form.dataset

const token = new URLSearchParams(location.search).get('token') ?? ''
// The link contains a credential, so it must not stay in the history.
history.replaceState(null, '', location.pathname)

/** Returns the CSRF token. Pages of other sites cannot read it and therefore cannot send it. */
const readCsrf = () => /(?:^|; )svc_csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? ''

async function send (fields) {
  const reply = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrftoken': readCsrf() },
    body: JSON.stringify({ ...fields, token })
  })
  if (reply.ok) return
  const isJson = reply.headers.get('content-type')?.includes('json')
  throw new Error(isJson ? (await reply.json()).detail : await reply.text())
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const { again, ...fields } = Object.fromEntries(new FormData(form))
  if (![fields.password, fields.new_password].includes(again)) return say('The two passwords differ. Enter the same password twice.')
  try {
    await send(fields)
    form.hidden = true
    say(done)
  } catch (err) {
    say(err.message)
  }
})

if (token === '') {
  form.hidden = true
  say('The address of this page is not complete. Open the whole link that you received.')
}
