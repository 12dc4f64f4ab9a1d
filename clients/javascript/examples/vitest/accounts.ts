// A client such as someone might have written; it knows nothing of the sandbox.

export async function listAccounts(
  baseUrl: string,
  token: string,
  { attempts = 3 } = {},
): Promise<string[]> {
  for (let left = attempts; ; left -= 1) {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${baseUrl}/12/accounts`, { headers });
    if (answer.status === 503 && left > 1) continue;
    if (!answer.ok) throw Object.assign(new Error("no accounts"), { status: answer.status });
    const { data } = (await answer.json()) as { data: { name: string }[] };
    return data.map((account) => account.name);
  }
}
