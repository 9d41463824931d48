package redact

// forms are the kinds of secret with a prefix. The prefixes and lengths are those of
// the issuers' documentation where it gives them (named beside the entry), and
// otherwise those of tokens as they are handed out.
func forms() []*secretForm {
	var (
		alnum  = chars("A-Za-z0-9")
		word   = chars("A-Za-z0-9_")
		url    = chars("A-Za-z0-9_-")
		dotted = chars("A-Za-z0-9_.-")
		base64 = chars("A-Za-z0-9+/=")
		anyB64 = chars("A-Za-z0-9+/=_-")
		lowHex = chars("a-f0-9")
		anyHex = chars("a-fA-F0-9")
		base32 = chars("A-Z2-7")
		bech32 = chars("A-Z0-9")
	)
	return []*secretForm{
		// docs.github.com, "About authentication to GitHub: token formats"; github.blog,
		// "Authentication token format updates": [A-Za-z0-9_], up to 255 characters.
		{"GitHub token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, word, 12, 36, loose},
		{"GitHub token", []string{"github_pat_"}, word, 20, 82, loose},
		// docs.gitlab.com, "GitLab token overview: token prefixes".
		{"GitLab token", []string{
			"glpat-", "gloas-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glwt-", "glsoat-", "glffct-",
		}, dotted, 6, 0, loose},
		// docs.aws.amazon.com, "IAM identifiers: unique identifiers". An id isn't secret
		// by itself, but stands beside what is.
		{"AWS access key", []string{"AKIA", "ASIA", "ABIA", "ACCA"}, base32, 12, 16, whatever},
		{"AWS Bedrock key", []string{"ABSKQmVkcm9ja0FQSUtleS"}, base64, 20, 0, loose},
		// docs.slack.dev, "Token types".
		{"Slack token", []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxc-", "xoxd-", "xoxe.xoxp-", "xoxe.xoxb-", "xapp-", "xwfp-"}, chars("A-Za-z0-9%-"), 10, 0, whatever},
		// docs.stripe.com, "API keys".
		{"Stripe key", []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_live_", "sk_org_test_"}, word, 8, 0, loose},
		{"Stripe webhook secret", []string{"whsec_"}, base64, 10, 0, loose},
		{"OpenAI key", []string{"sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"}, url, 16, 0, loose},
		{"Anthropic key", []string{"sk-ant-api03-", "sk-ant-admin01-", "sk-ant-oat01-", "sk-ant-ort01-", "sk-ant-sid01-", "sk-ant-sid02-", "sk-ant-"}, url, 16, 0, loose},
		// openrouter.ai, "Secret formats": 64 hexadecimal digits.
		{"OpenRouter key", []string{"sk-or-v1-"}, lowHex, 16, 64, hex},
		{"API key", []string{"sk-"}, alnum, 16, 0, mixed}, // OpenAI's older ones, DeepSeek's and others'
		// cloud.google.com, "Manage API keys"; ai.google.dev has the same form.
		{"Google API key", []string{"AIza"}, url, 11, 35, loose},
		{"Google OAuth secret", []string{"GOCSPX-"}, url, 9, 28, loose},
		{"Google access token", []string{"ya29."}, dotted, 16, 0, loose},
		{"Google refresh token", []string{"1//0"}, url, 16, 0, mixed},
		// huggingface.co, "User access tokens".
		{"Hugging Face token", []string{"hf_", "api_org_"}, alnum, 11, 34, mixed},
		// docs.npmjs.com, "About access tokens"; github.blog, "npm's new token format".
		{"npm token", []string{"npm_"}, alnum, 12, 36, loose},
		// pypi.org/help, "How can I use API tokens": a macaroon of pypi.org or test.pypi.org.
		{"PyPI token", []string{"pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"}, url, 20, 0, whatever},
		{"Docker token", []string{"dckr_pat_", "dckr_oat_"}, url, 9, 0, loose},
		// docs.digitalocean.com, "How to create a personal access token".
		{"DigitalOcean token", []string{"dop_v1_", "doo_v1_", "dor_v1_"}, lowHex, 16, 64, hex},
		{"Twilio key", []string{"SK"}, lowHex, 32, 32, hex},
		{"SendGrid key", []string{"SG."}, dotted, 16, 66, mixed},
		{"Mailgun key", []string{"key-"}, lowHex, 32, 32, hex},
		// developer.hashicorp.com, "Vault: tokens".
		{"Vault token", []string{"hvs.", "hvb.", "hvr."}, url, 8, 0, loose},
		{"Terraform token", []string{".atlasv1."}, url, 16, 0, loose},
		// C2SP, age.md: Bech32, upper case.
		{"age key", []string{"AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"}, bech32, 16, 0, whatever},
		// learn.microsoft.com, "Configure Azure Storage connection strings".
		{"Azure storage key", []string{"AccountKey="}, base64, 28, 88, loose},
		{"Azure shared key", []string{"SharedAccessKey="}, base64, 14, 44, loose},
		{"Azure function key", []string{"?code=", "&code="}, anyB64, 36, 0, mixed},
		// shopify.dev, "Access tokens".
		{"Shopify token", []string{"shpat_", "shpca_", "shppa_", "shpss_", "shprt_", "shpua_"}, anyHex, 10, 32, hex},
		{"Linear key", []string{"lin_api_", "lin_oauth_"}, alnum, 13, 0, mixed},
		{"Notion token", []string{"ntn_"}, alnum, 14, 46, loose},
		{"Databricks token", []string{"dapi"}, lowHex, 32, 32, hex},
		// grafana.com, "Service accounts".
		{"Grafana token", []string{"glsa_", "glc_"}, chars("A-Za-z0-9_+/="), 14, 0, loose},
		// docs.sentry.io, "Token and credential formats".
		{"Sentry token", []string{"sntryu_", "sntrya_"}, lowHex, 20, 64, hex},
		{"Sentry token", []string{"sntrys_"}, chars("A-Za-z0-9+/=_"), 20, 0, loose},
		{"New Relic key", []string{"NRAK-"}, chars("A-Z0-9"), 9, 27, mixed},
		{"Doppler token", []string{"dp.pt.", "dp.st.", "dp.sa.", "dp.ct.", "dp.scim.", "dp.audit."}, dotted, 14, 0, loose},
		{"Fly.io token", []string{"fo1_", "fm1r_", "fm1a_", "fm2_"}, anyB64, 14, 0, loose},
		{"Heroku key", []string{"HRKU-"}, url, 14, 0, mixed},
		{"Pulumi token", []string{"pul-"}, lowHex, 13, 40, hex},
		{"Postman key", []string{"PMAK-"}, chars("a-f0-9-"), 19, 59, whatever},
		{"Supabase key", []string{"sbp_", "sbp_v0_"}, lowHex, 13, 40, hex},
		{"Supabase key", []string{"sb_secret_"}, url, 10, 0, loose},
		{"xAI key", []string{"xai-"}, alnum, 26, 80, mixed},
		{"NVIDIA key", []string{"nvapi-"}, url, 16, 0, loose},
		{"Cerebras key", []string{"csk-"}, alnum, 16, 0, loose},
		{"Render key", []string{"rnd_"}, alnum, 12, 32, mixed},
		{"PostHog key", []string{"phx_"}, alnum, 14, 0, loose},
		{"Groq key", []string{"gsk_"}, alnum, 17, 52, mixed},
		{"Perplexity key", []string{"pplx-"}, alnum, 16, 0, loose},
		{"Replicate token", []string{"r8_"}, url, 12, 37, mixed},
		{"Langfuse key", []string{"sk-lf-"}, chars("a-f0-9-"), 12, 36, whatever},
		{"LangSmith key", []string{"lsv2_pt_", "lsv2_sk_"}, chars("a-f0-9_"), 14, 43, whatever},
		// guides.rubygems.org, "API key scopes".
		{"RubyGems key", []string{"rubygems_"}, lowHex, 16, 48, hex},
		{"NuGet key", []string{"oy2"}, chars("a-z0-9"), 43, 43, mixed},
		{"Clojars token", []string{"CLOJARS_"}, chars("a-z0-9"), 20, 60, loose},
		{"Square token", []string{"sq0atp-", "sq0csp-", "sq0idp-"}, url, 7, 0, loose},
		{"Brevo key", []string{"xkeysib-", "xsmtpsib-"}, chars("A-Za-z0-9-"), 20, 0, whatever},
		{"Resend key", []string{"re_"}, word, 20, 0, mixed},
		{"Dynatrace token", []string{"dt0c01.", "dt0s01.", "dt0s16."}, chars("A-Z0-9."), 20, 0, loose},
		{"Atlassian token", []string{"ATATT3", "ATCTT3", "ATBB"}, chars("A-Za-z0-9_=-"), 10, 0, mixed},
		{"Figma token", []string{"figd_"}, url, 13, 0, loose},
		{"PlanetScale password", []string{"pscale_tkn_", "pscale_pw_", "pscale_oauth_"}, dotted, 10, 0, loose},
		{"Alibaba key", []string{"LTAI5t"}, alnum, 8, 0, loose},
		// tailscale.com, "Key prefixes".
		{"Tailscale key", []string{"tskey-auth-", "tskey-api-", "tskey-client-", "tskey-scim-", "tskey-webhook-"}, chars("A-Za-z0-9-"), 9, 0, loose},
		{"1Password token", []string{"ops_eyJ"}, anyB64, 20, 0, whatever},
		{"CircleCI token", []string{"CCIPAT_"}, word, 14, 0, loose},
		{"Buildkite token", []string{"bkua_"}, lowHex, 13, 40, hex},
		{"Contentful token", []string{"CFPAT-"}, url, 14, 43, loose},
		{"EasyPost key", []string{"EZAK", "EZTK"}, alnum, 18, 54, mixed},
		{"Shippo token", []string{"shippo_live_", "shippo_test_"}, lowHex, 13, 40, hex},
		{"Typeform token", []string{"tfp_"}, chars("A-Za-z0-9_.-"), 20, 0, mixed},
		{"Scalingo token", []string{"tk-us-"}, url, 16, 48, loose},
		{"Prefect key", []string{"pnu_", "pnb_"}, alnum, 12, 36, loose},
		{"Neon key", []string{"napi_"}, alnum, 16, 0, mixed},
		{"Tavily key", []string{"tvly-", "tvly-dev-"}, url, 10, 0, loose},
		{"Firecrawl key", []string{"fc-"}, lowHex, 32, 32, hex},
		{"E2B key", []string{"e2b_"}, lowHex, 14, 40, hex},
		{"Slack webhook", []string{"hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"}, chars("A-Za-z0-9/"), 12, 0, whatever},
		{"Teams webhook", []string{".webhook.office.com/webhookb2/"}, chars("A-Za-z0-9@/-"), 30, 0, whatever},
	}
}
