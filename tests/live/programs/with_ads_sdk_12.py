"""The same with version 12, which users choose by this constant."""

import runpy
from pathlib import Path

import twitter_ads

twitter_ads.API_VERSION = "12"
runpy.run_path(str(Path(__file__).with_name("with_ads_sdk.py")))
